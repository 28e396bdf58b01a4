resource "a" {
  type     = "x"
  for_each = var.nothing
  config   = { k = each.key }
}
# error 3:14 once only
