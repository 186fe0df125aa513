"""What all pages share: work and its progress, figures, errors, messages."""
