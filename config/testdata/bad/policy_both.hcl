policy "a" {
  level = "mandatory"
  type  = "acme/policy:1"
  rule {
    deny    = []
    message = "x"
  }
}
# error 4:3 Both a type and rules
