output "b" {
  type  = list(number)
  value = ["x"]
}
# error 3:11 must be
