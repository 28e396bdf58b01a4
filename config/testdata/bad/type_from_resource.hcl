resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = resource.a.state.image
}
# error 5:10 Known too late
