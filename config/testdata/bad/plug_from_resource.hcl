resource "a" {
  type = "acme/file:1"
}
plug "p" {
  path = resource.a.state.path
}
# error 5:10 Known too late
