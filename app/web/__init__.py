"""The pages: HTML that works as plain links and forms, with a little script on top."""
