resource "disk" {
  type     = "x"
  for_each = { data = 1, logs = 2 }
}
resource "vm" {
  type         = "x"
  for_each     = { date = 1 }
  dependencies = { d = resource.disk[each.key] }
}
# error 8:24 near miss
