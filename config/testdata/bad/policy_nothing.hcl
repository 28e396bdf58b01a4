policy "a" {
  level = "mandatory"
}
policy "b" {
  level  = "advisory"
  config = {}
}
# error 1:1 A policy without rules
# error 6:3 A config without a type
