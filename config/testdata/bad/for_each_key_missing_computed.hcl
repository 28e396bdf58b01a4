resource "disk" {
  type     = "x"
  for_each = { data = 1, logs = 2 }
}
resource "vm" {
  type     = "x"
  for_each = { date = 1 }
  config   = { d = resource.disk[each.key].state.x }
}
# error 8:33 near miss
