resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  dependencies = { "1" = resource.a }
}
# error 6:20 Invalid alias
