resource "a" {
  type   = "x"
  count  = 1
  config = { k = each.key }
}
# error 4:18 write count.index
