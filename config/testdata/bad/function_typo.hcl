# error 4:11 Did you mean "upper"?

output "a" {
  value = uper("x")
}
