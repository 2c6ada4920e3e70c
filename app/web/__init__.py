"""The pages: server-rendered, in two languages, plain links and forms first."""
