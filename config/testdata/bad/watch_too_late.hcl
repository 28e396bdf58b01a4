resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "acme/file:1"
  watch {
    poll = resource.a.state.every
  }
}
# error 7:12 Too late
