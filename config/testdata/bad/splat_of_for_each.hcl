resource "a" {
  for_each = { x = 1 }
  type     = "x"
}
output "o" {
  value = resource.a[*].config
}
output "p" {
  value = resource.a.*.state.id
}
# error 6:24 values(resource.a)[*]
# error 9:23 values(resource.a)[*]
