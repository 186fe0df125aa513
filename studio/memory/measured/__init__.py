"""What ONNX Runtime's arena really did."""
