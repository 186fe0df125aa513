# Passlens in a container, for visitors: it opens no files of its own, only what they upload.
# `docker build -t passlens . && docker run --rm -p 8501:8501 passlens`.
# On a shared server add: --read-only --tmpfs /tmp --tmpfs /home/passlens:uid=10001 --cap-drop ALL
#   --security-opt no-new-privileges --memory 8g --pids-limit 512

FROM python:3.11-slim
RUN apt-get update \
    && apt-get install -y --no-install-recommends graphviz \
    && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home passlens
WORKDIR /app
COPY . .
# For example "[postgresql,ray]", as compose.yaml does
ARG EXTRAS=""
RUN pip install --no-cache-dir --disable-pip-version-check -c constraints.txt -e ".$EXTRAS"
USER passlens
ENV PYTHONUNBUFFERED=1 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    PASSLENS_LOCAL_FILES=0 \
    ORT_DISABLE_TELEMETRY=1
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["streamlit", "run", "app.py", "--server.port=8501"]
