resource "disk" {
  type     = "x"
  for_each = { data = 1, logs = 2 }
}
resource "vm" {
  type   = "x"
  config = { d = resource.disk["date"].state.x }
}
# error 7:31 near miss
