output "a" {
  type  = nmber
  value = 1
}
output "b" {
  type  = list(number)
  value = ["x"]
}
# error 2:11 nmber
