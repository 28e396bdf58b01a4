resource "a" {
  type  = "x"
  count = 2
}
output "o" { value = resource.a[2].state.x }
# error 5:32 only 0 and 1
