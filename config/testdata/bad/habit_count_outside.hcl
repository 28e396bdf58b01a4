# error 6:20 each.key

resource "a" {
  type     = "x"
  for_each = toset(["a"])
  config   = { n = count.index }
}
