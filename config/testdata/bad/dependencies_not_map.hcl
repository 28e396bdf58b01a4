resource "a" {
  type = "acme/file:1"
}
resource "b" {
  type = "x"
  dependencies = [resource.a]
}
# error 6:18 Invalid dependencies
