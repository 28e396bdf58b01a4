type "p" {
  image         = "acme/policy:1"
  whole_machine = true
}
policy "a" {
  level = "mandatory"
  type  = type.p
}
# error 7:11 A policy reads the plan alone
