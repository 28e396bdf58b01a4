resource "a" {
  type = "x"
  dependencies = { b = resource.b }
}
resource "b" {
  type = "x"
  dependencies = { a = resource.a }
}
# error 3:24 A circle of dependencies
