resource "a" { type = "x" }
locals { n = resource.a.state.n }
output "b" {
  type  = object({ a = number })
  value = { b = local.n }
}
# error 5:11 must be
