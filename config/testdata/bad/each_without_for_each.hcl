resource "a" {
  type   = "x"
  config = { k = each.key, i = count.index }
}
# error 3:18 no for_each
# error 3:32 no count
