"""Who is right: a judge of kernels, blame for running models, accuracy, and criteria of others."""
