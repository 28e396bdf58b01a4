resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  dependencies = { a = resource.a, "a" = resource.a }
}
# error 6:36 Declared twice
