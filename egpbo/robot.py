"""Robot pushing on Box2D: a free hand pushes a disc over a table with friction.

Reference: [EGPBO] Lu et al., arXiv:2205.14090v1 (2022), Sec. 5.2. The world is that of the public
task (Wang and Jegelka, 2017) which the released code took over; all constants are its own. There
is no arm and no display.
"""

import warnings
from functools import lru_cache

import numpy as np

TIME_STEP = 0.01  # seconds
ITERATIONS = 10  # of velocity and of position
HAND_HALF_SIZE, HAND_DENSITY, HAND_FRICTION = (0.3, 1.0), 0.1, 0.1  # metres, kg / m^2
OBJECT_RADIUS, OBJECT_DENSITY, OBJECT_FRICTION = 1.0, 0.05, 0.01
HAND_JOINT = {"maxForce": 2.0, "maxTorque": 2.0}  # newtons, newton metres
OBJECT_JOINT = {"maxForce": 5.0, "maxTorque": 2.0}
GAIN = 30.0  # 1 / seconds, of the velocity controller of a box-shaped hand
STEPS_PER_DURATION = 10  # a duration of 30 is 3 seconds
COASTING_STEPS = 100
SPEEDS = {3: 5.0, 4: 10.0}  # metres / second, by number of inputs

BOUNDS = {
    3: ((-5.0, 5.0), (-5.0, 5.0), (1.0, 30.0)),
    4: ((-5.0, 5.0), (-5.0, 5.0), (1.0, 30.0), (0.0, 2 * np.pi)),
}
"""Limits of hand position (two, metres), duration (tenths of a second) and hand angle (radians)."""


def push(x, velocity_noise=(0.0, 0.0), *, trace=False):
    """Push the object once and return where it stops.

    The object starts at the origin, the hand at (rx, ry) with the given angle (3 inputs: the
    direction arctan(ry / rx)); it is driven towards the origin at 5 (3 inputs) or 10 m/s (4
    inputs) for int(10 duration) steps, then both coast for one second.

    Parameters
    ----------
    x : array_like of shape (3,) or (4,)
        rx, ry, duration and, with 4 inputs, the angle of the hand.
    velocity_noise : array_like of shape (2,), optional
        Added to the target velocity, in m/s.
    trace : bool, optional
        Also return the speeds of the hand, one a step.

    Returns
    -------
    ndarray of shape (2,)
        Final position of the object in metres; with `trace`, a pair with the speeds.

    Notes
    -----
    Source: [EGPBO] Sec. 5.2; constants of the public task.
    """
    x = np.asarray(x, dtype=float)
    position, duration = x[:2], x[2]
    angle = x[3] if len(x) == 4 else _angle(*position)
    world, hand, thing = _world(position, angle)
    target = SPEEDS[len(x)] * _direction(position) + np.asarray(velocity_noise)
    target = (float(target[0]), float(target[1]))
    speeds = []
    for _ in range(int(STEPS_PER_DURATION * duration)):
        _drive(hand, target)
        world.Step(TIME_STEP, ITERATIONS, ITERATIONS)
        speeds.append(hand.linearVelocity.length)
    for _ in range(COASTING_STEPS):
        world.Step(TIME_STEP, ITERATIONS, ITERATIONS)
        speeds.append(hand.linearVelocity.length)
    end = np.array(thing.position, dtype=float)
    return (end, np.array(speeds)) if trace else end


def _angle(rx, ry):
    """Return arctan(ry / rx); a hand on the axis rx = 0 stands upright."""
    return float(np.arctan(ry / rx)) if rx else float(np.pi / 2)


def _direction(position):
    """Return the unit vector from the hand to the origin; along -x if the hand is there."""
    distance = float(np.hypot(*position))
    return -position / distance if distance else np.array([-1.0, 0.0])


@lru_cache
def _box2d():
    """Import Box2D; its SWIG layer warns on import, and crashes if warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import Box2D
    return Box2D


def _world(position, angle):
    """Build table, hand and object; friction joints tie both to the table."""
    Box2D = _box2d()
    world = Box2D.b2World(gravity=(0, 0), doSleep=True)
    table = world.CreateStaticBody(position=(0, 0))
    hand = world.CreateDynamicBody(
        position=tuple(map(float, position)),
        angle=angle,
        fixtures=Box2D.b2FixtureDef(
            shape=Box2D.b2PolygonShape(box=HAND_HALF_SIZE),
            density=HAND_DENSITY,
            friction=HAND_FRICTION,
        ),
    )
    thing = world.CreateDynamicBody(
        position=(0, 0),
        fixtures=Box2D.b2FixtureDef(
            shape=Box2D.b2CircleShape(radius=OBJECT_RADIUS, pos=(0, 0)),
            density=OBJECT_DENSITY,
            friction=OBJECT_FRICTION,
        ),
    )
    world.CreateFrictionJoint(bodyA=table, bodyB=thing, **OBJECT_JOINT)
    world.CreateFrictionJoint(bodyA=table, bodyB=hand, **HAND_JOINT)
    return world, hand, thing


def _drive(hand, target):
    """Apply the controller's force and torque for one step."""
    velocity = hand.linearVelocity
    hand.ApplyTorque(-hand.mass * GAIN * hand.angularVelocity, wake=True)
    force = (
        hand.mass * GAIN * (target[0] - velocity[0]),
        hand.mass * GAIN * (target[1] - velocity[1]),
    )
    hand.ApplyForce(force, hand.position, wake=True)


def distance_to_goal(x, goal, velocity_noise=(0.0, 0.0)):
    """Return the distance from the object's final position to the goal, in metres.

    Source: [EGPBO] Sec. 5.2.

    Parameters
    ----------
    x : array_like of shape (3,) or (4,)
    goal : array_like of shape (2,)
    velocity_noise : array_like of shape (2,), optional
    """
    return float(np.linalg.norm(push(x, velocity_noise) - np.asarray(goal)))
