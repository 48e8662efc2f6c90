"""What asks an installed framework, in its own interpreter, without suanzi."""
