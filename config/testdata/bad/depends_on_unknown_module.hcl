resource "b" {
  type       = "x"
  depends_on = [module.none]
}
# error 3:17 no such module
