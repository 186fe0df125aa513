"""Scripts that several tests run in the browser."""

from __future__ import annotations

SESSION = """async (name) => {
  const at = (file) => import(`/viewer/test/${file}.js`);
  const { Session } = await at("session/session"), { Metrics } = await at("layout/metrics");
  const get = async (url) => (await fetch(url)).json();
  const graph = await get(`/graph/${name}.json`), steps = await get(`/steps/${name}.json`);
  const s = new Session(graph, steps, new Metrics({ text: (t) => t.length * 6.5 }, "sans-serif"));
  s.goto(0);
  window.session = s;
  return { boxes: s.picture("after").nodes, open: s.tree.openIds().length };
}"""
