"""What ONNX Runtime's arena really did: order of nodes, live bytes, the block it plans."""
