resource "a" {
  type = "x"
  config = { x = resource.a.config.y, y = 1 }
}
# error 3:18 Refers to itself
