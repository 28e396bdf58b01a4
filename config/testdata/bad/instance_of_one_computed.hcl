resource "a" { type = "x" }
resource "b" {
  type     = "x"
  for_each = { x = 1 }
  config   = { y = resource.a[each.key].state.y }
}
# error 5:30 no instances
