"""Scripts that ask an installed framework what it does; each runs alone, without suanzi."""
