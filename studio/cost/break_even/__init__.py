"""Break-even: after how many inferences optimizing has paid."""
