resource "disk" {
  type     = "x"
  for_each = { data = 1 }
}
resource "which" { type = "x" }
resource "vm" {
  type         = "x"
  dependencies = { disk = resource.disk[resource.which.state.key] }
}
# error 8:41 too late
