resource "disk" {
  type     = "x"
  for_each = { data = 1 }
}
resource "vm" {
  type         = "x"
  dependencies = { disk = resource.disk }
}
# error 7:27 one of several
