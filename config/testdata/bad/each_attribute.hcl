resource "a" {
  type     = "x"
  for_each = {}
  config   = { k = each.name, i = each }
}
# error 4:20 there is key and value
# error 4:35 incomplete
