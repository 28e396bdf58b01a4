resource "a" {
  type    = "x"
  enabled = false
}
output "v" { value = resource.a.state.v }
# error 5:32 enabled = false
