"""The odd family: balanced pairs {S, N∖S}, and what is read from the odd and the even part of a
game.
"""
