resource "a" {
  type = "acme/file:1"
}
resource "a" {
  type = "acme/file:1"
}
# error 4:1 Declared twice
