policy "a" {
  level = "mandatory"
  rule {
    condition = true
    deny      = []
  }
}
policy "a" {
  level = "advisory"
  type  = "acme/policy:1"
}
# error 3:8 Missing required argument
# error 4:5 Unsupported argument
# error 8:1 Declared twice
