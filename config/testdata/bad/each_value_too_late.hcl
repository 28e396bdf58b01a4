resource "cluster" { type = "x" }
resource "a" {
  for_each = { one = resource.cluster.state.image }
  type     = each.value
}
# error 4:14 known too late
