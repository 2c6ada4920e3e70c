"""What people upload, as a submission: bytes are capped before anything reads them."""
