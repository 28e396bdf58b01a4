resource "a" {
  type    = "x"
  enabled = true
}
output "v" { value = resource.a[0].state.v }
# error 5:22 no instances
