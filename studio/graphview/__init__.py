"""From models and traces to the weight-free JSON the browser draws."""
