resource "disk" {
  type     = "x"
  for_each = { data = 1 }
}
output "o" { value = resource.disk.state.x }
# error 5:22 which one
