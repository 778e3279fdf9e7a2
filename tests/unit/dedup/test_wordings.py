"""Ways of wording that say one thing, and the same ways where they say two."""

import pytest

from strata.dedup import PairKind, decide

MERGE, CONFLICT, DISTINCT = PairKind.MERGE, PairKind.CONFLICT, PairKind.DISTINCT

WORDED = [
    pytest.param("用户被狗咬了", "狗咬了用户", MERGE, id="passive in Chinese"),
    pytest.param("小王被小李骂了", "小李被小王骂了", DISTINCT, id="passive turned round"),
    pytest.param("The dog is walked by Dad", "Dad walks the dog", MERGE, id="passive in English"),
    pytest.param(
        "The plants are looked after by Ann", "Ann looks after the plants", MERGE, id="passive with a particle"
    ),
    pytest.param("The cat was chased by the dog", "The cat chased the dog", DISTINCT, id="who chases whom"),
    pytest.param("弟弟比用户小三岁", "用户比弟弟大3岁", MERGE, id="younger and older"),
    pytest.param("弟弟比用户小三岁", "用户比弟弟小三岁", DISTINCT, id="who is younger"),
    pytest.param("Ann is younger than Bob", "Bob is older than Ann", MERGE, id="younger and older in English"),
    pytest.param("Ann is younger than Bob", "Bob is younger than Ann", DISTINCT, id="who is younger in English"),
    pytest.param("User prefers trains to planes", "User prefers trains over planes", MERGE, id="to and over"),
    pytest.param("User prefers trains to planes", "User prefers planes to trains", DISTINCT, id="to, turned round"),
    pytest.param("Turn the heating off at night", "Turn off the heating at night", MERGE, id="a particle apart"),
    pytest.param("Keep the heating on at night", "Turn the heating off at night", CONFLICT, id="on and off"),
    pytest.param("The sister is a vegetarian", "The sister is not a vegetarian", CONFLICT, id="a denied copula"),
    pytest.param("儿子不能吃鸡蛋，会过敏", "儿子对鸡蛋过敏", MERGE, id="an allergy as the reason"),
    pytest.param("儿子不能吃鸡蛋，会过敏", "儿子能吃鸡蛋", CONFLICT, id="an allergy as the reason, denied"),
    pytest.param(
        "Because of his gout, Dad avoids beer", "Dad avoids beer because of his gout", MERGE, id="cause in front"
    ),
    pytest.param("用户家里有个三岁的女儿", "用户的女儿三岁了", MERGE, id="the age of somebody one has"),
    pytest.param("用户家里有个三岁的女儿", "用户的女儿五岁了", CONFLICT, id="another age of somebody one has"),
    pytest.param("User has a doctor", "User is a doctor", DISTINCT, id="having and being"),
    pytest.param("用户有房东", "用户是房东", DISTINCT, id="having and being in Chinese"),
    pytest.param("User is Tom's teacher", "Tom is the user's teacher", DISTINCT, id="whose teacher"),
    pytest.param("周一游泳周二跑步", "周一跑步周二游泳", DISTINCT, id="shared out among days"),
    pytest.param("妈妈吃素爸爸吃荤", "爸爸吃荤妈妈吃素", MERGE, id="two people in one breath"),
    pytest.param("妈妈吃素爸爸吃荤", "妈妈吃荤爸爸吃素", CONFLICT, id="two people, exchanged"),
    pytest.param("用户滴酒不沾", "用户爱喝啤酒", CONFLICT, id="a kind denied, a member affirmed"),
    pytest.param("用户不喜欢海鲜", "用户喜欢虾", DISTINCT, id="a dislike of a kind denies no liking"),
    pytest.param("Buy milk", "User bought milk", PairKind.REFINE, id="an order and a deed"),
    pytest.param("不吃太辣的", "不吃辣", DISTINCT, id="too much is not all"),
    pytest.param("侄子对鸡蛋过敏", "外甥对鸡蛋过敏", DISTINCT, id="a brother's son and a sister's"),
    pytest.param("用户是产品经理", "用户升为产品总监了", CONFLICT, id="promoted"),
    pytest.param("User drives to work", "User now takes the subway to work", CONFLICT, id="another way to work"),
    pytest.param("安眠药每晚吃半片", "安眠药每晚吃一片", CONFLICT, id="half a pill"),
    pytest.param("用户的车是黑色的", "用户的车是白色的", CONFLICT, id="another colour of one thing"),
    pytest.param("用户喜欢黑色的车", "用户喜欢白色的车", DISTINCT, id="two colours one may like"),
    pytest.param("奶奶一个人住", "奶奶和家人一起住", CONFLICT, id="alone and in company, of somebody else"),
    pytest.param("工资是8000", "工资涨到10000", CONFLICT, id="a longer number"),
    pytest.param("车停在地下二层", "车子停在B2", MERGE, id="a basement"),
    pytest.param("儿子在读高二", "儿子上高中二年级", MERGE, id="a form of school"),
    pytest.param("会议改成线上", "会议改到周二", DISTINCT, id="two changes of different kinds"),
]


@pytest.mark.parametrize(("old", "new", "expected"), WORDED)
def test_wordings(old: str, new: str, expected: PairKind) -> None:
    assert decide(old, new).kind is expected


@pytest.mark.parametrize(("old", "new", "expected"), WORDED)
def test_wordings_the_other_way_round(old: str, new: str, expected: PairKind) -> None:
    assert decide(new, old).kind is expected
