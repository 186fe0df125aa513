"""The tables. A change here needs a new version and a migration in `schema.py`."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()

targets = Table(
    "targets",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("fingerprint", Text, nullable=False, unique=True),
    Column("hardware", Text, nullable=False, index=True),
    Column("gpu", Text, nullable=False),
    Column("runtime", Text, nullable=False),
    Column("description", Text, nullable=False),  # the whole machine but its load, as JSON
)

recordings = Table(
    "recordings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("model_hash", Text, nullable=False, index=True),
    Column("target_id", Integer, ForeignKey("targets.id"), nullable=False),
    Column("load", Float(53), nullable=False),
    Column("started_at", Text, nullable=False),
    Column("started", Float(53), nullable=False),  # seconds since 1970, to sort and filter by
    Column("seconds", Float(53), nullable=False),
    Column("bundle", Text, nullable=False, index=True),
    Column("passlens", Text, nullable=False),
    Column("payload", LargeBinary, nullable=False),  # JSON, compressed by zlib
)
Index("recordings_newest", recordings.c.started, recordings.c.id)
Index("recordings_kind", recordings.c.kind, recordings.c.started)
Index("recordings_model", recordings.c.model, recordings.c.started)
Index("recordings_target", recordings.c.target_id, recordings.c.started)

measurements = Table(
    "measurements",
    metadata,
    Column(
        "recording_id",
        Integer,
        ForeignKey("recordings.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("label", Text, nullable=False),
    Column("workload", Text, nullable=False, index=True),
    Column("step", BigInteger),
    Column("options", Text, nullable=False),  # JSON
    Column("config_hash", Text, nullable=False, index=True),
    Column("p50_ms", Float(53)),
    Column("p95_ms", Float(53)),
    Column("min_ms", Float(53)),
    Column("first_ms", Float(53)),
    Column("create_ms", Float(53)),
    Column("runs", BigInteger, nullable=False),
    Column("peak_bytes", BigInteger, nullable=False),
    Column("error", Text, nullable=False),
    Column("verdict", Text, nullable=False),
)
