resource "a" { type = "x" }
output "o" { value = resource.a["x"].state.y }
output "p" { value = resource.a[0].state.y }
# error 2:22 no instances
# error 3:22 no instances
