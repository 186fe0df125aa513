"""How ONNX Runtime reads a graph, a model of somebody else's: the nodes it runs, their order."""
