policy "a" {
  level = "mandatry"
  type  = "acme/policy:1"
}
# error 2:11 Invalid level
