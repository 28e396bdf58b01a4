resource "x" {
  type   = "acme/file:1"
  config = { a = plan.created }
}
policy "a" {
  level = "mandatory"
  rule {
    deny    = [resource.x.state.id]
    message = "x"
  }
  rule {
    deny    = [for d in deny : d]
    message = join(", ", deny)
  }
}
# error 3:18 plan is not available here
# error 8:16 Known too late
# error 12:25 deny is not available here
