"""What a worker keeps on its disk so that a crash loses nothing: boots, the spool, documents."""
